// Code that verifies the signature of a request, for the address of this webhook; the secret is never shown here.

import type { Webhook } from '../../api/types.ts'
import { CodeValue, CopyButton } from '../../parts/copy.tsx'
import { Fact } from '../../parts/facts.tsx'
import { useFilters } from '../../parts/filters.tsx'
import { Section, Tabs } from '../../parts/page.tsx'
import { webhooks } from '../../words/en/webhooks.ts'
import { webhookSamples } from './samples.ts'

const words = webhooks.verify
type Language = keyof typeof webhookSamples
const COMMENTS: Record<Language, string> = { node: '//', python: '#', go: '//', php: '//' }

export function Verify({ webhook }: { webhook: Webhook }) {
  const filters = useFilters()
  const wanted = filters.get('language') ?? ''
  const language: Language = wanted in webhookSamples ? (wanted as Language) : 'node'
  const tabs = (Object.keys(webhookSamples) as Language[]).map((name) => ({
    name,
    label: words.languages[name],
    href: `?${new URLSearchParams({ ...filters.values, language: name })}`,
  }))
  const code = codeOf(language, webhook.url)
  return (
    <Section title={words.title} actions={<CopyButton text={code} />}>
      <p class="measure">{words.text}</p>
      <dl class="facts small">
        <Fact name={words.url}>
          <CodeValue text={webhook.url} what={words.url} />
        </Fact>
        <Fact name={words.secret}>{words.ends(webhook.signing_secret_hint)}</Fact>
      </dl>
      <Tabs label={words.language} tabs={tabs} current={language} />
      <pre class="code-block">{code}</pre>
      <p class="soft meta">
        <a href="/docs/webhooks#what-to-check">{words.more}</a>
      </p>
    </Section>
  )
}

/** The sample with the address above it; in PHP below the opening tag. */
function codeOf(language: Language, url: string): string {
  const sample = webhookSamples[language].trimEnd()
  const comment = `${COMMENTS[language]} ${words.comment(url)}`
  const opening = '<?php\n'
  return sample.startsWith(opening) ? `${opening}${comment}\n${sample.slice(opening.length)}` : `${comment}\n${sample}`
}
