import { PageTitle } from "../ui/PageTitle";

export function AddInstancePage() {
  return <PageTitle title="AddInstancePage" />;
}
