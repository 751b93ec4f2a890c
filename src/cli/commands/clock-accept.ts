// `mailstead clock accept`: says that the clock is right although it differs from what was last seen.

import { isoTime } from '../../base/clock.ts'
import type { Command } from '../frame/command.ts'

export const clockAccept: Command = {
  words: 'clock accept',
  summary: 'Accept the clock after a jump, so that retention, expiry and purges resume.',
  async run(call) {
    const app = await call.open()
    const time = isoTime(app.clock.now())
    if (!app.guard.isHeld()) {
      return {
        data: { accepted: false, time },
        lines: [`The clock says ${time} and is trusted; nothing to accept.`],
      }
    }
    await app.appliance.acceptClock()
    return {
      data: { accepted: true, time },
      lines: [`The clock is accepted: ${time}. A running appliance resumes within a minute.`],
    }
  },
}
