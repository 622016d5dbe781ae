import { PageTitle } from "../ui/PageTitle";

export function ExportsPage() {
  return <PageTitle title="ExportsPage" />;
}
