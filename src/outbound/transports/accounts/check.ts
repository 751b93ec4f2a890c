// The results of testing an account, in the form the test route shows.

import type { CheckResult, Stage } from '../transport.ts'
import { shown } from './api-client.ts'

const MESSAGE_MAX = 300

/** @param message one sentence a person understands */
export function passed(stage: Stage, message: string): CheckResult {
  return { success: true, stage, smtpCode: null, message: shown(message, MESSAGE_MAX) }
}

/** @param stage the last one reached */
export function failed(stage: Stage, message: string): CheckResult {
  return { success: false, stage, smtpCode: null, message: shown(message, MESSAGE_MAX) }
}
