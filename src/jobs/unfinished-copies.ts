// Takes back what copies by mail programs have left when the process ended before them: once, in the background of the start.

import type { Service } from '../base/lifecycle.ts'
import type { Context } from '../context.ts'

export function openUnfinishedCopies({ store, log }: Context): Service & { settle(): Promise<void> } {
  let running: Promise<void> = Promise.resolve()
  return {
    name: 'unfinished-copies',
    async start() {
      running = store.programs.copies
        .takeBackUnfinished()
        .catch((error: unknown) =>
          log.error({ event: 'copies.not_taken_back', err: error }, 'Unfinished copies could not be taken back'),
        )
    },
    async stop() {
      store.programs.copies.close()
      await running
    },
    settle: () => running,
  }
}
