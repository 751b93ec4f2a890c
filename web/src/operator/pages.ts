// The pages of the operator in the order of the sidebar: one line for each, loaded on first use.

import type { ComponentType } from 'preact'
import type { IconName } from '../look/icons.ts'
import type { operator as words } from '../words/en/operator.ts'

export interface OperatorPage {
  /** Its part of the address, and its name in the words. */
  name: keyof typeof words.pages
  icon: IconName
  group: keyof typeof words.groups
  load: () => Promise<ComponentType>
}

export const OPERATOR_PAGES: readonly OperatorPage[] = [
  {
    name: 'doctor',
    icon: 'stethoscope',
    group: 'health',
    load: () => import('./doctor.tsx').then((module) => module.Doctor),
  },
  {
    name: 'machine',
    icon: 'cpu',
    group: 'health',
    load: () => import('./machine.tsx').then((module) => module.Machine),
  },
  {
    name: 'records',
    icon: 'globe',
    group: 'health',
    load: () => import('./records.tsx').then((module) => module.Records),
  },
  { name: 'queue', icon: 'list', group: 'mail', load: () => import('./queue.tsx').then((module) => module.Queue) },
  {
    name: 'teams',
    icon: 'users',
    group: 'users',
    load: () => import('./teams.tsx').then((module) => module.Teams),
  },
  {
    name: 'people',
    icon: 'user',
    group: 'users',
    load: () => import('./people.tsx').then((module) => module.People),
  },
  {
    name: 'agents',
    icon: 'bot',
    group: 'users',
    load: () => import('./agents.tsx').then((module) => module.Agents),
  },
  {
    name: 'requests',
    icon: 'gauge',
    group: 'users',
    load: () => import('./requests.tsx').then((module) => module.Requests),
  },
  {
    name: 'credits',
    icon: 'receipt-text',
    group: 'users',
    load: () => import('./credits.tsx').then((module) => module.Credits),
  },
  {
    name: 'settings',
    icon: 'sliders-horizontal',
    group: 'server',
    load: () => import('./settings.tsx').then((module) => module.Settings),
  },
  {
    name: 'backups',
    icon: 'archive',
    group: 'server',
    load: () => import('./backups.tsx').then((module) => module.Backups),
  },
  {
    name: 'changes',
    icon: 'scroll-text',
    group: 'server',
    load: () => import('./changes.tsx').then((module) => module.Changes),
  },
]

/** The address of a page of the operator; the first page has the shortest. */
export const operatorHref = (name: OperatorPage['name']) =>
  name === OPERATOR_PAGES[0]!.name ? '/operator' : `/operator/${name}`
