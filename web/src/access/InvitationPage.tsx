import { PageTitle } from "../ui/PageTitle";

export function InvitationPage() {
  return <PageTitle title="InvitationPage" />;
}
