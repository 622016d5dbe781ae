import { PageTitle } from "../ui/PageTitle";

export function RequestPage() {
  return <PageTitle title="RequestPage" />;
}
