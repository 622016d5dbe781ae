import { PageTitle } from "../ui/PageTitle";

export function AccountPage() {
  return <PageTitle title="AccountPage" />;
}
