import { PageTitle } from "../ui/PageTitle";

export function OrganizationPage() {
  return <PageTitle title="OrganizationPage" />;
}
