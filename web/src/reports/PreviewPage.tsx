import { PageTitle } from "../ui/PageTitle";

export function PreviewPage() {
  return <PageTitle title="PreviewPage" />;
}
