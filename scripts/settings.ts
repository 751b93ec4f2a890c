// Generates the files derived from the list of settings: config/mailstead.schema.json, config/mailstead.example.json and the tables in README.md and docs/settings.md.
// Run it after a change to src/config/config.ts or mail-program-settings.ts: node scripts/run.js scripts/settings.ts

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { settings } from '../src/config/config.ts'

const ROOT = join(import.meta.dirname, '..')
const TABLE_START = '<!-- settings: made by scripts/settings.ts -->'
const TABLE_END = '<!-- /settings -->'

interface Setting {
  type?: string
  default?: unknown
  description?: string
}

const rows = Object.entries(settings) as [string, Setting][]

/** A JSON Schema of the settings file, so that an editor explains and checks it. */
function schemaFile(): string {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Settings of Mailstead',
    type: 'object',
    additionalProperties: false,
    properties: { $schema: { type: 'string' }, ...settings },
  }
  return toJson(schema)
}

/** Every setting at its default. */
function exampleFile(): string {
  const defaults = rows.map(([name, setting]) => [name, setting.default] as const)
  return toJson({ $schema: './mailstead.schema.json', ...Object.fromEntries(defaults) })
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

function settingsTable(): string {
  const lines = rows.map(([name, setting]) => `| \`${name}\` | ${shown(setting.default)} | ${setting.description} |`)
  return ['| Setting | Default | Meaning |', '|---|---|---|', ...lines].join('\n')
}

function shown(value: unknown): string {
  const text = Array.isArray(value) ? value.join(',') : String(value ?? '')
  return text === '' ? 'empty' : `\`${text}\``
}

/** A Markdown file with the table as it should be. */
function withTable(path: string): string {
  const [before, rest] = readFileSync(join(ROOT, path), 'utf8').split(TABLE_START)
  const after = rest?.split(TABLE_END)[1]
  if (after === undefined) throw new Error(`${path} has lost its marks ${TABLE_START} and ${TABLE_END}.`)
  return `${before}${TABLE_START}\n${settingsTable()}\n${TABLE_END}${after}`
}

/** The files that follow from the settings, and what they should hold. */
export function settingFiles(): { path: string; content: string }[] {
  return [
    { path: 'config/mailstead.schema.json', content: schemaFile() },
    { path: 'config/mailstead.example.json', content: exampleFile() },
    { path: 'README.md', content: withTable('README.md') },
    { path: 'docs/settings.md', content: withTable('docs/settings.md') },
  ]
}

if (import.meta.main) for (const { path, content } of settingFiles()) writeFileSync(join(ROOT, path), content)
