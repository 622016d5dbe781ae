import { PageTitle } from "../ui/PageTitle";

export function ConnectPage() {
  return <PageTitle title="ConnectPage" />;
}
