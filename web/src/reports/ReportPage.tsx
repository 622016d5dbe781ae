import { PageTitle } from "../ui/PageTitle";

export function ReportPage() {
  return <PageTitle title="ReportPage" />;
}
