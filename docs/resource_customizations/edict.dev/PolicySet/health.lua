-- The health of a PolicySet from its conditions, as kstatus and Flux compute it.
local hs = {status = "Progressing", message = "the controller has not processed this generation yet"}
local status = obj.status
if status == nil or status.observedGeneration == nil or status.observedGeneration < (obj.metadata.generation or 0) then
  return hs
end
local found = {}
for _, condition in ipairs(status.conditions or {}) do
  found[condition.type] = condition
end
local ready = found.Ready
if ready == nil then
  return hs
end
hs.message = ready.reason
if ready.message ~= nil and ready.message ~= "" then
  hs.message = ready.reason .. ": " .. ready.message
end
if found.Stalled ~= nil and found.Stalled.status == "True" then
  hs.status = "Degraded"
elseif ready.status == "True" and ready.reason == "Suspended" then
  hs.status = "Suspended"
elseif ready.status == "True" then
  hs.status = "Healthy"
end
return hs
