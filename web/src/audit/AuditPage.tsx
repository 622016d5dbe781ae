import { PageTitle } from "../ui/PageTitle";

export function AuditPage() {
  return <PageTitle title="AuditPage" />;
}
