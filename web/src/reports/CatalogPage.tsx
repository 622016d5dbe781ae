import { Box, Chip, Flex, Group, Stack, Text, Title } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useSession } from "../api/session";
import { PageTitle } from "../ui/PageTitle";
import { categories } from "../url/categories";
import { CatalogCard } from "./CatalogCard";
import { type Card, cardsOf, questions } from "./catalogCards";
import type { Category } from "./kinds/kind";

/** CatalogPage lists the reports by category; the address may name one category. */
export function CatalogPage() {
  const { category } = useSearch({ from: "/reports" });
  const { mail, organization } = useSession();
  const cards = cardsOf(organization.catalog);
  const sampled = cards.some((card) => !("request" in card.action));
  const shown = category ? [category] : categories;
  return (
    <>
      <PageTitle
        title="Reports"
        beta
        lead={`Muster builds requested reports in the background${mail === "server" ? ", e-mails a link" : ""} and lists them in the history.${sampled ? " Previews show planned reports with made-up data." : ""}`}
      />
      <CategoryFilter value={category} />
      <Stack gap="xl" maw={1120}>
        {shown.map((name) => (
          <Section key={name} category={name} cards={cards} />
        ))}
      </Stack>
    </>
  );
}

function CategoryFilter({ value }: { value: Category | undefined }) {
  const navigate = useNavigate({ from: "/reports" });
  const choose = (chosen: string) =>
    navigate({ search: { category: categories.find((name) => name === chosen) }, resetScroll: false });
  return (
    <Chip.Group value={value ?? "All"} onChange={(chosen) => choose(String(chosen))}>
      <Group gap="xs" mb="lg" role="radiogroup" aria-label="Category">
        {["All", ...categories].map((name) => (
          <Chip key={name} value={name} variant="outline">
            {name}
          </Chip>
        ))}
      </Group>
    </Chip.Group>
  );
}

function Section({ category, cards }: { category: Category; cards: Card[] }) {
  const heading = `category-${category.toLowerCase()}`;
  return (
    <Flex
      component="section"
      aria-labelledby={heading}
      gap={{ base: "sm", md: "lg" }}
      direction={{ base: "column", md: "row" }}
    >
      <Box w={{ base: "100%", md: 200 }} style={{ flexShrink: 0 }} pt={{ md: "md" }}>
        <Title order={2} id={heading}>
          {category}
        </Title>
        <Text size="sm" c="dimmed">
          {questions[category]}
        </Text>
      </Box>
      <Stack gap="md" flex="1 1 0" miw={0}>
        {cards
          .filter((card) => card.category === category)
          .map((card) => (
            <CatalogCard key={card.name} card={card} />
          ))}
      </Stack>
    </Flex>
  );
}
