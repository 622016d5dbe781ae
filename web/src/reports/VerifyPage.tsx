import { PageTitle } from "../ui/PageTitle";

export function VerifyPage() {
  return <PageTitle title="VerifyPage" />;
}
