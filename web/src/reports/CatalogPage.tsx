import { PageTitle } from "../ui/PageTitle";

export function CatalogPage() {
  return <PageTitle title="CatalogPage" />;
}
