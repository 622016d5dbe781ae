import { PageTitle } from "../ui/PageTitle";

export function InstancePage() {
  return <PageTitle title="InstancePage" />;
}
