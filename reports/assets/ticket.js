// The first screen as Markdown, for a ticket.
const ticket = document.getElementById("ticket");
ticket?.addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(D.ticket);
    ticket.textContent = "Copied";
  } catch {
    // Some browsers keep the clipboard from files: the reader copies it.
    const text = document.createElement("textarea");
    text.value = D.ticket;
    text.readOnly = true;
    text.rows = 12;
    ticket.replaceWith(text);
    text.select();
  }
});
