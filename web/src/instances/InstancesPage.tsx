import { PageTitle } from "../ui/PageTitle";

export function InstancesPage() {
  return <PageTitle title="InstancesPage" />;
}
