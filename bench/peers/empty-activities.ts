/** Three activities that do nothing. */
export async function first(): Promise<void> {}
export async function second(): Promise<void> {}
export async function third(): Promise<void> {}
