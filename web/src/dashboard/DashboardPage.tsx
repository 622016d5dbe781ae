import { PageTitle } from "../ui/PageTitle";

export function DashboardPage() {
  return <PageTitle title="DashboardPage" />;
}
