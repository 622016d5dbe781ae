import { PageTitle } from "../ui/PageTitle";

export function OutboxPage() {
  return <PageTitle title="OutboxPage" />;
}
