// Counts of IMAP: connections, logins, commands.

export class ImapMetrics {
  readonly #commands = new Map<string, number>()
  readonly #logins = new Map<string, number>()
  connections = 0

  /** A command was answered. */
  command(name: string, result: string): void {
    const key = `${name} ${result}`
    this.#commands.set(key, (this.#commands.get(key) ?? 0) + 1)
  }

  login(outcome: string): void {
    this.#logins.set(outcome, (this.#logins.get(outcome) ?? 0) + 1)
  }

  /** Answered commands by name and result. */
  commands(): { name: string; result: string; count: number }[] {
    return [...this.#commands].map(([key, count]) => {
      const at = key.lastIndexOf(' ')
      return { name: key.slice(0, at), result: key.slice(at + 1), count }
    })
  }

  /** Logins by outcome. */
  logins(): { outcome: string; count: number }[] {
    return [...this.#logins].map(([outcome, count]) => ({ outcome, count }))
  }
}
