import { PageTitle } from "../ui/PageTitle";

export function ExceptionsPage() {
  return <PageTitle title="ExceptionsPage" />;
}
