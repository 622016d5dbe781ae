import { PageTitle } from "../ui/PageTitle";

export function ProjectionsPage() {
  return <PageTitle title="ProjectionsPage" />;
}
