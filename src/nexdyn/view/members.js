// Of a recording of several members: which is shown, before viser's player looks for its scene. Another one is chosen by loading the page
// anew; what is to stay as it is goes along in the window's name (record.js), which other pages do not get.
{
  const { members, others, first } = JSON.parse(document.getElementById("nexdyn-members").textContent);
  let given = {};
  try { if (window.name.startsWith("nexdyn ")) given = JSON.parse(window.name.slice(7)); } catch { given = {}; }
  window.name = "";
  const member = members.some(([number]) => number === given.member) ? given.member : first;
  window.__nexdynMember = { member, members, others, given };
  window.__VISER_EMBED_DATA__ = document.getElementById(`nexdyn-scene-${member}`).textContent;
}
