// What lives long: a part that is started, works, and is stopped again.

/** A long-lived part of the house. `stop` finishes what was begun before it resolves. */
export interface Service {
  readonly name: string
  start(): Promise<void>
  stop(): Promise<void>
}
