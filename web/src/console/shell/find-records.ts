// Records of a team by their names, for the palette: domains, mailboxes, people and sending accounts.

import { takeList } from '../../api/client.ts'
import type { PaletteEntry } from '../../frame/palette.tsx'
import type { IconName } from '../../look/icons.ts'
import { pageNames } from '../../words/en/pages.ts'
import type { OpenTeam } from '../team.ts'

const MOST = 5

interface Match {
  id: string
  label: string
}

interface Source {
  page: keyof typeof pageNames
  icon: IconName
  permission: string
  /** Whether the record is a row that opens. */
  isRow?: boolean
  matches: (team: OpenTeam, q: string) => Promise<Match[]>
}

const has = (label: string, q: string) => label.toLowerCase().includes(q.toLowerCase())

const SOURCES: readonly Source[] = [
  {
    page: 'domains',
    icon: 'globe',
    permission: 'domain.read',
    matches: async ({ api }, q) => {
      const { items } = await takeList(api.GET('/domains', { params: { query: { q, limit: MOST } } }))
      return items.map(({ id, domain }) => ({ id, label: domain }))
    },
  },
  {
    page: 'mailboxes',
    icon: 'mailbox',
    permission: 'mailbox.admin.read',
    matches: async ({ api }, q) => {
      const { items } = await takeList(api.GET('/mailboxes', { params: { query: { q, limit: MOST } } }))
      return items.map(({ id, email }) => ({ id, label: email }))
    },
  },
  {
    page: 'people',
    icon: 'users',
    permission: 'team.read',
    isRow: true,
    matches: async ({ api }, q) => {
      const { items } = await takeList(api.GET('/team/members', { params: { query: { q, limit: MOST } } }))
      return items.map(({ id, email, display_name: name }) => ({
        id,
        label: name === null ? email : `${name} <${email}>`,
      }))
    },
  },
  {
    page: 'sending',
    icon: 'route',
    permission: 'provider.read',
    // Teams have few of them, and their list has no search.
    matches: async ({ api }, q) => {
      const { items } = await takeList(api.GET('/providers', { params: { query: { limit: 100 } } }))
      return items.filter(({ name }) => has(name, q)).map(({ id, name }) => ({ id, label: name }))
    },
  },
  {
    page: 'webhooks',
    icon: 'webhook',
    permission: 'webhook.read',
    matches: async ({ api }, q) => {
      const { items } = await takeList(api.GET('/webhooks', { params: { query: { limit: 100 } } }))
      const named = items.map(({ id, url, description }) => ({
        id,
        label: description === '' ? url : `${description} ${url}`,
      }))
      return named.filter(({ label }) => has(label, q))
    },
  },
]

/** A kind that does not answer is left out: the palette is no place for its error. */
export async function findRecords(team: OpenTeam, text: string): Promise<PaletteEntry[]> {
  const open = SOURCES.filter(({ permission }) => team.may(permission))
  const lists = await Promise.all(
    open.map(async ({ page, icon, isRow = false, matches }) => {
      const records = await matches(team, text).catch(() => [])
      return records.slice(0, MOST).map(({ id, label }): PaletteEntry => {
        const href = isRow ? `${team.href(page)}?open=${id}` : team.href(page, id)
        return { label, note: pageNames[page], icon, href }
      })
    }),
  )
  return lists.flat()
}
