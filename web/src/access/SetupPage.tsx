import { PageTitle } from "../ui/PageTitle";

export function SetupPage() {
  return <PageTitle title="SetupPage" />;
}
