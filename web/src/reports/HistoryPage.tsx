import { PageTitle } from "../ui/PageTitle";

export function HistoryPage() {
  return <PageTitle title="HistoryPage" />;
}
