import { PageTitle } from "../ui/PageTitle";

export function TokensPage() {
  return <PageTitle title="TokensPage" />;
}
