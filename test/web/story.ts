// One thing that a person does in the browser, as a test on the shared appliance.

import type { WebAppliance } from './web-appliance.ts'

export interface Story {
  name: string
  run(web: WebAppliance): Promise<void>
}
