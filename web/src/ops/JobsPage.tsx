import { PageTitle } from "../ui/PageTitle";

export function JobsPage() {
  return <PageTitle title="JobsPage" />;
}
