// Builds the results of an account test for the API.

import type { CheckResult, Stage } from '../transport.ts'
import { shown } from './api-client.ts'

const MESSAGE_MAX = 300

/** @param message one human-readable sentence */
export function passed(stage: Stage, message: string): CheckResult {
  return { success: true, stage, smtpCode: null, message: shown(message, MESSAGE_MAX) }
}

/** @param stage the last stage reached */
export function failed(stage: Stage, message: string): CheckResult {
  return { success: false, stage, smtpCode: null, message: shown(message, MESSAGE_MAX) }
}
