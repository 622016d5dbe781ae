// swagger-ui-dist has no types of its own.
declare module "swagger-ui-dist/swagger-ui-es-bundle.js" {
  export default function SwaggerUI(settings: Record<string, unknown>): unknown;
}
