import { PageTitle } from "../ui/PageTitle";

export function AlertPage() {
  return <PageTitle title="AlertPage" />;
}
