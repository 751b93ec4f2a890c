// Whether agents may register: the setting, and the operator's switch at run time.

import type { Reader } from '../db/db.ts'
import type { AgentDeps } from './deps.ts'

const REGISTRATION = 'registration'

export class Switches {
  readonly #deps: Pick<AgentDeps, 'db' | 'config'>

  constructor(deps: Pick<AgentDeps, 'db' | 'config'>) {
    this.#deps = deps
  }

  /** A setting of `off` overrides the switch. */
  isOpen(reader: Reader = this.#deps.db.read): boolean {
    if (this.#deps.config.AGENT_REGISTRATION === 'off') return false
    const row = reader.get<{ value: string }>('SELECT value FROM agent_switches WHERE name = ?', [REGISTRATION])
    return row?.value !== 'off'
  }

  async setOpen(open: boolean): Promise<void> {
    await this.#deps.db.write((tx) =>
      tx.run(
        'INSERT INTO agent_switches (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
        [REGISTRATION, open ? 'on' : 'off'],
      ),
    )
  }
}
