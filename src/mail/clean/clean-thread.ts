// The thread in which large mails are cleaned.

import { type CleanTask, cleanTask } from './clean-task.ts'

export default (task: CleanTask) => cleanTask(task)
