// The conversations that are about to be snoozed: the dialog asks until when.

import { signal } from '@preact/signals'

export const snoozing = signal<readonly string[] | null>(null)
