// The documents of docs/ as pages: which there are, in which order, and each one rendered once.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PROJECT_FOLDER } from '../base/entry.ts'
import { notFound } from '../base/errors.ts'
import { type RenderedDocument, renderDocument } from './markdown.ts'

/** Where the Markdown files are. */
export const DOCS_FOLDER = join(PROJECT_FOLDER, 'docs')

export interface DocEntry {
  /** Name of the file without `.md`; `README` is the first page. */
  name: string
  path: string
  /** Short title for the navigation. */
  label: string
}

export interface DocGroup {
  title: string
  entries: readonly DocEntry[]
}

const entry = (name: string, label: string): DocEntry => ({ name, path: `/docs/${name}`, label })

/** Order of the navigation. */
export const DOC_GROUPS: readonly DocGroup[] = [
  {
    title: 'Start',
    entries: [
      { name: 'README', path: '/docs', label: 'Overview' },
      entry('getting-started', 'Getting started'),
      entry('quickstart', 'On the internet'),
      entry('console', 'In the browser'),
      entry('docker', 'Docker'),
      entry('machine', 'A machine of its own'),
      entry('receiving', 'Receiving on the internet'),
      entry('https', 'HTTPS and certificates'),
    ],
  },
  {
    title: 'Use',
    entries: [
      entry('sending', 'Sending'),
      entry('sending-accounts', 'Sending accounts'),
      entry('mailboxes', 'Mailboxes and search'),
      entry('webmail', 'Mail in the browser'),
      entry('mail-programs', 'Mail programs'),
      entry('outside-accounts', 'Outside accounts'),
      entry('google-and-microsoft', 'Google and Microsoft'),
      entry('webhooks', 'Webhooks'),
      entry('agents', 'Agents'),
    ],
  },
  {
    title: 'Run',
    entries: [
      entry('operations', 'Operations'),
      entry('settings', 'Settings'),
      entry('security', 'Security model'),
      entry('architecture', 'Architecture'),
    ],
  },
  {
    title: 'Reference',
    entries: [{ name: 'api', path: '/docs/api', label: 'API reference' }, entry('errors', 'Errors')],
  },
]

/** Entries that are Markdown files, in the order of the navigation. */
export const DOC_ENTRIES: readonly DocEntry[] = DOC_GROUPS.flatMap(({ entries }) => entries).filter(
  ({ name }) => name !== 'api',
)

const rendered = new Map<string, Promise<RenderedDocument>>()

/** @throws ProductError not_found for a name that is not in the navigation */
export function readDocument(name: string): Promise<RenderedDocument> {
  if (!DOC_ENTRIES.some((one) => one.name === name)) throw notFound('page')
  const known = rendered.get(name)
  if (known !== undefined) return known
  const made = readFile(join(DOCS_FOLDER, `${name}.md`), 'utf8').then(renderDocument)
  rendered.set(name, made)
  // A file that could not be read is read again at the next request.
  made.catch(() => rendered.delete(name))
  return made
}

/** A picture of docs/images. @param name a file name without a path @throws ProductError not_found */
export async function readImage(name: string): Promise<Buffer> {
  try {
    return await readFile(join(DOCS_FOLDER, 'images', name))
  } catch {
    throw notFound('page')
  }
}
