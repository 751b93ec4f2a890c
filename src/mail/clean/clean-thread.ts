// The thread in which large mails are cleaned.

import { type CleanTask, cleanTask } from './cleaner.ts'

export default (task: CleanTask) => cleanTask(task)
