// The state of an agent as sign and words.

import type { OwnAgent } from '../../api/agents.ts'
import type { IconName } from '../../look/icons.ts'
import type { Tone } from '../../parts/icon.tsx'
import { State } from '../../parts/marks.tsx'
import { agents as words } from '../../words/en/agents.ts'

type AgentStatus = OwnAgent['state']

const SIGNS: Readonly<Record<AgentStatus, { tone: Tone; icon?: IconName }>> = {
  unclaimed: { tone: '', icon: 'circle' },
  invited: { tone: 'warn', icon: 'clock' },
  accepted: { tone: '', icon: 'mail-open' },
  approved: { tone: 'good' },
  revoked: { tone: '', icon: 'ban' },
  expired: { tone: '', icon: 'ban' },
}

export function AgentState({ state }: { state: AgentStatus }) {
  return <State {...SIGNS[state]}>{words.states[state]}</State>
}

/** Whether it still reads or sends. */
export const isAlive = ({ state }: OwnAgent) => state !== 'revoked' && state !== 'expired'
