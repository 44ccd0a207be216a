/** Asks on the terminal, on stderr so that stdout stays clean; leaving the prompt means no. */
export const confirmDeletion = async (message: string): Promise<boolean> => {
  // Loaded only where somebody is asked: it is a tenth of what a start loads.
  const { confirm } = await import('@inquirer/prompts')
  try {
    return await confirm({ message, default: false }, { output: process.stderr })
  } catch (error) {
    if (error instanceof Error && error.name === 'ExitPromptError') return false
    throw error
  }
}
