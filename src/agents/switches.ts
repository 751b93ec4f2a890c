// Whether agents may register: the setting, unless the operator has switched it off since.

import type { Reader } from '../db/db.ts'
import type { AgentParts } from './deps.ts'

const REGISTRATION = 'registration'

export class Switches {
  readonly #parts: Pick<AgentParts, 'db' | 'config'>

  constructor(parts: Pick<AgentParts, 'db' | 'config'>) {
    this.#parts = parts
  }

  /** The setting has the last word when it says off. */
  async isOpen(reader: Reader = this.#parts.db.read): Promise<boolean> {
    if (this.#parts.config.AGENT_REGISTRATION === 'off') return false
    const row = await reader.get<{ value: string }>('SELECT value FROM agent_switches WHERE name = ?', [REGISTRATION])
    return row?.value !== 'off'
  }

  async setOpen(open: boolean): Promise<void> {
    await this.#parts.db.write((tx) =>
      tx.run(
        'INSERT INTO agent_switches (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
        [REGISTRATION, open ? 'on' : 'off'],
      ),
    )
  }
}
