// Builds the results of an account test for the API.

import { shown } from '../../model/api-client.ts'
import type { CheckResult, Stage } from '../../model/transport.ts'

const MESSAGE_MAX = 300

/** @param message one human-readable sentence */
export function passed(stage: Stage, message: string): CheckResult {
  return { success: true, stage, smtpCode: null, message: shown(message, MESSAGE_MAX) }
}

/** @param stage the last stage reached */
export function failed(stage: Stage, message: string): CheckResult {
  return { success: false, stage, smtpCode: null, message: shown(message, MESSAGE_MAX) }
}
