import { PageTitle } from "../ui/PageTitle";

export function DeadLettersPage() {
  return <PageTitle title="DeadLettersPage" />;
}
