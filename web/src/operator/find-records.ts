// Records of the whole server by their names, for the palette of its operators: teams and people.

import { operatorApi, take, takeList } from '../api/client.ts'
import type { PaletteEntry } from '../frame/palette.tsx'
import { operator } from '../words/en/operator.ts'
import { operatorHref } from './pages.ts'

const MOST = 5

/** A kind that does not answer is left out: the palette is no place for its error. */
export async function findRecords(text: string): Promise<PaletteEntry[]> {
  const lists = await Promise.all([teams(text).catch(() => []), people(text).catch(() => [])])
  return lists.flat()
}

async function teams(text: string): Promise<PaletteEntry[]> {
  const all = await take(operatorApi.GET('/teams'))
  const named = all.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()))
  return named.slice(0, MOST).map(({ id, name }) => ({
    ...{ label: name, note: operator.pages.teams, icon: 'users' },
    href: `${operatorHref('teams')}?open=${id}`,
  }))
}

async function people(text: string): Promise<PaletteEntry[]> {
  const { items } = await takeList(operatorApi.GET('/people', { params: { query: { q: text, limit: MOST } } }))
  return items.map(({ email, display_name: name }) => ({
    ...{ label: name === null ? email : `${name} <${email}>`, note: operator.pages.people, icon: 'user' },
    href: `${operatorHref('people')}?open=${encodeURIComponent(email)}`,
  }))
}
