import { PageTitle } from "../ui/PageTitle";

export function MembersPage() {
  return <PageTitle title="MembersPage" />;
}
