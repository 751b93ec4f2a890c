// The team whose console is open, for its pages.

import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { type Api, apiAs } from '../api/client.ts'
import { permits } from '../api/session.ts'
import type { OwnTeam } from '../api/types.ts'

export interface OpenTeam extends OwnTeam {
  api: Api
  /** Whether the role of the person has a permission. */
  may(permission: string): boolean
  /** The address of a page of this team: `href('domains', id)`. */
  href(...parts: string[]): string
}

export const TeamContext = createContext<OpenTeam | null>(null)

export function openTeam(team: OwnTeam): OpenTeam {
  return {
    ...team,
    api: apiAs(team.id),
    may: (permission) => permits(team.permissions, permission),
    href: (...parts) => ['/console', team.id, ...parts].join('/'),
  }
}

/** The open team. @throws Error outside of the console */
export function useTeam(): OpenTeam {
  const team = useContext(TeamContext)
  if (team === null) throw new Error('This page belongs to a team.')
  return team
}
