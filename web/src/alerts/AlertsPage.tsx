import { PageTitle } from "../ui/PageTitle";

export function AlertsPage() {
  return <PageTitle title="AlertsPage" />;
}
