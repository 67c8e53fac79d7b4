#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <vector>
#include <chrono>
#include "device/kernel.h"
#include "grid/tiles_ops.h"
#include "levelset/levelset_ops.h"
extern "C" { extern const tsr_tiles_ops tsr_tiles_cuda; extern const tsr_levelset_ops tsr_levelset_cuda; const tsr_backend *tsr_backend_open(const tsr_module_host *); }
static tsr_status hfail(tsr_status s, const char*f,const char*file,int line,const char*m){ printf("FAIL %s:%d %s\n",file,line,m); return s; }
static tsr_status hframe(tsr_status s,const char*,const char*,int){return s;}
static const tsr_module_host host = {hfail,hframe};
#define OK(x) do{ if((x)!=TSR_OK){printf("failed %s\n",#x);exit(1);} }while(0)
static const tsr_backend *B; static tsr_queue *Q;
template<class T> T* dev(size_t n){ void*p; OK(B->allocate(Q,n*sizeof(T),&p)); return (T*)p; }
int main(int argc,char**argv){
  int n=argc>1?atoi(argv[1]):40; int log2=argc>2?atoi(argv[2]):3; int steps=argc>3?atoi(argv[3]):60; int check=argc>4?atoi(argv[4]):1; int cap=argc>5?atoi(argv[5]):0; int paged=argc>6?atoi(argv[6]):0; float shells=argc>7?atof(argv[7]):1;
  B=tsr_backend_open(&host); OK(B->queue_create(0,1,&Q));
  int nx=n,ny=n+3<n?n:n-(n>64?0:3),nz=n; int64_t N=(int64_t)nx*ny*nz; int E=1<<log2;
  std::vector<float> f(N); float c=0.5f*(n-1), R=0.25f*n; float band=2.5f;
  for(int64_t z=0,i=0;z<nz;z++)for(int y=0;y<ny;y++)for(int x=0;x<nx;x++,i++){ float r=sqrtf((x-c)*(x-c)+(y-c)*(y-c)+(z-c)*(z-c)); float v=r-R; if(shells>1){ float per=n/(4*shells); v=fabsf(fmodf(r,2*per)-per)-per*0.5f; if(r>0.48f*n) v=fmaxf(v,r-0.48f*n);} f[i]=fminf(fmaxf(v,-band),band);}  
  tsr_tile_pool p={}; p.log2_edge=log2; p.bounded=1; p.domain[0]=nx;p.domain[1]=ny;p.domain[2]=nz; int64_t T=1; for(int k=0;k<3;k++){p.tiles[k]=(p.domain[k]+E-1)/E;T*=p.tiles[k];}
  p.band=band; for(int k=0;k<3;k++)p.spacing[k]=1; 
  float*df=dev<float>(N); OK(B->upload(Q,df,f.data(),N*4)); uint8_t*codes=dev<uint8_t>(T); int64_t*bad=dev<int64_t>(1); p.state=dev<tsr_tile_state>(1); OK(B->fill(Q,p.state,0,sizeof(tsr_tile_state)));
  if(paged) p.table=dev<uint32_t>(T);
  p.capacity=16; OK(tsr_tiles_cuda.load_classify(Q,&p,df,codes,bad)); tsr_tile_state st; OK(B->download(Q,&st,p.state,sizeof st)); printf("stored %d of %ld\n",st.count,(long)T);
  p.capacity=cap?cap:st.count*2+1000; int C=p.capacity; int64_t V=E*E*E;
  for(int k=0;k<2;k++){p.key[k]=dev<uint64_t>(C+1);p.id[k]=dev<uint32_t>(C);p.phi[k]=dev<float>(C*V);} p.payload=dev<float>(C*V); p.neighbours=dev<uint32_t>((size_t)C*32);p.activity=dev<uint32_t>(C);p.key_of=dev<uint64_t>(C);p.free_ids=dev<uint32_t>(C);p.created_ids=dev<uint32_t>(C);
  p.scratch=dev<uint32_t>(tsr_tiles_cuda.scratch_words(&p));
  OK(tsr_tiles_cuda.load_fill(Q,&p,df,codes)); OK(tsr_tiles_cuda.manage(Q,&p)); OK(B->download(Q,&st,p.state,sizeof st)); printf("after manage %d active %ld inside %ld shortage %d\n",st.count,(long)st.active_voxels,(long)(st.inside_voxels+st.inside_absent),st.shortage);
  // image: random-ish u8
  std::vector<uint8_t> im(N); uint32_t s=1; for(int64_t z=0,i=0;z<nz;z++)for(int y=0;y<ny;y++)for(int x=0;x<nx;x++,i++){ s=s*1664525u+1013904223u; float r=sqrtf((x-c)*(x-c)+(y-c)*(y-c)+(z-c)*(z-c)); float v= check? (r<0.4f*n? 120+((s>>24)&63)-32:20) : (((int)(r)&7)<4?140:100); im[i]=(uint8_t)v; }
  uint8_t*di=dev<uint8_t>(N); OK(B->upload(Q,di,im.data(),N));
  tsr_speed sp={}; sp.count=1; sp.size[0]=nx;sp.size[1]=ny;sp.size[2]=nz; sp.term[0].kind=TSR_SPEED_TENT; sp.term[0].weight=0.7f; sp.term[0].a=0.15f; sp.term[0].b=120/255.f; sp.term[0].c=1e30f; sp.term[0].data[0]=di; sp.term[0].dtype[0]=TSR_U8; sp.term[0].scale[0]=1/255.f;
  tsr_levelset_params k={}; for(int a=0;a<3;a++)k.inverse_spacing[a]=1; k.spacing=1;k.band=band;k.curvature=0.3f;k.curvature_limit=2;k.rescale=0.3f;k.gradient=1;k.cfl=0.5f;
  OK(tsr_levelset_cuda.fill_speed(Q,&p,&sp)); tsr_levelset_plan*plan; OK(tsr_levelset_cuda.plan_create(Q,&p,&k,&sp,&plan));
  std::vector<float> d=f,e(N); if(check==1){ OK(B->download(Q,&st,p.state,sizeof st)); float speed=tsr_bits_float(st.speed_bits);
    for(int t=0;t<steps;t++){ OK(tsr_levelset_cuda.plan_run(Q,plan,1)); 
      float dt=tsr_levelset_time_step(&k,speed); float mx=0; float cube[27]; 
      for(int z=0;z<nz;z++)for(int y=0;y<ny;y++)for(int x=0;x<nx;x++){ for(int q=0;q<27;q++){int X=x+q%3-1,Y=y+q/3%3-1,Z=z+q/9-1; X=X<0?0:X>=nx?nx-1:X;Y=Y<0?0:Y>=ny?ny-1:Y;Z=Z<0?0:Z>=nz?nz-1:Z; cube[q]=d[((int64_t)Z*ny+Y)*nx+X];}
        float sv=tsr_speed_term_at(&(sp.term[0].data[0]=im.data(),sp.term[0]), ((int64_t)z*ny+y)*nx+x)*0.7f; float v=tsr_levelset_update(cube+13,3,9,sv,dt,&k); e[((int64_t)z*ny+y)*nx+x]=v; if(v>-band&&v<band&&fabsf(sv)>mx)mx=fabsf(sv);} 
      speed=mx; d.swap(e); }
    float*out=dev<float>(N); int32_t first[3]={0,0,0}; int64_t size[3]={nx,ny,nz}; OK(tsr_tiles_cuda.store(Q,&p,first,size,out,NULL)); std::vector<float> g(N); OK(B->download(Q,g.data(),out,N*4)); OK(B->download(Q,&st,p.state,sizeof st)); long diff=0; for(int64_t i=0;i<N;i++) diff+= memcmp(&g[i],&d[i],4)!=0; long act=0,ins=0; for(auto v:d){act+=v>-band&&v<band; ins+=v<0;} printf("steps %d count %d created %d short %d active %ld/%ld inside %ld/%ld dt %g diff %ld\n",st.steps,st.count,st.created,st.shortage,(long)st.active_voxels,act,(long)(st.inside_voxels+st.inside_absent),ins,st.time_step,diff); return diff!=0; }
  for(int rep=0;rep<4;rep++){ OK(B->synchronize(Q)); auto t0=std::chrono::steady_clock::now(); OK(tsr_levelset_cuda.plan_run(Q,plan,steps)); OK(B->synchronize(Q)); double s=std::chrono::duration<double>(std::chrono::steady_clock::now()-t0).count(); OK(B->download(Q,&st,p.state,sizeof st)); printf("%d^3 E%d: %d steps %.1f us/step %.0f steps/s; tiles %d active %ld created %d removed %d short %d bytes/step(min) %.3g -> %.2f TB/s\n",n,E,steps,s/steps*1e6,steps/s,st.count,(long)st.active_voxels,st.created,st.removed,st.shortage,12.0*st.count*V,12.0*st.count*V/(s/steps)/1e12); }
}
