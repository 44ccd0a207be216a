import { confirm } from '@inquirer/prompts'

/** Asks on the terminal, on stderr so that stdout stays clean; leaving the prompt means no. */
export const confirmDeletion = async (message: string): Promise<boolean> => {
  try {
    return await confirm({ message, default: false }, { output: process.stderr })
  } catch (error) {
    if (error instanceof Error && error.name === 'ExitPromptError') return false
    throw error
  }
}
