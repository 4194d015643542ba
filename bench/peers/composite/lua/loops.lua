-- luajit loops.lua LIBRARY copy|instructions N      {"ns": .., "result": ..}
--
-- As ../src/main.rs says. The calls are those of C, in LIBRARY.
local ffi = require("ffi")
ffi.cdef [[
uint64_t null_read(uint64_t from, void *buffer, uint64_t size);
uint64_t null_write(uint64_t to, void *buffer, uint64_t size);
typedef struct { long seconds, nanoseconds; } moment;
int clock_gettime(int clock, moment *time);
]]
local library, work, n = ffi.load(arg[1]), arg[2], tonumber(arg[3])
local buffer = ffi.new("char[512]")

local function copy(left)
    local sum = 0ULL
    for _ = 1, left do
        sum = sum + library.null_write(4, buffer, library.null_read(3, buffer, 512))
    end
    return sum
end

local function instructions(left)
    local sum = 1ULL
    for round = left, 1, -1 do
        sum = sum * 31ULL + round
    end
    return sum
end

local function now()
    local time = ffi.new("moment")
    ffi.C.clock_gettime(1, time)
    return tonumber(time.seconds) * 1e9 + tonumber(time.nanoseconds)
end

local run = work == "copy" and copy or instructions
run(math.floor(n / 10) + 1)
local begin = now()
local result = run(n)
local ns = (now() - begin) / n
print(string.format('{"ns": %f, "result": %s}', ns, (tostring(result):gsub("ULL", ""))))
